// Requests to our own server. `ask` reads, `send` changes something; both give what the server says or throw an Error with its words.
export async function ask(path) {
  return read(await fetch(path, { headers: { accept: "application/json" } }));
}

export async function send(path, body = {}) {
  return read(await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-groundfault": "1" },
    body: JSON.stringify(body),
  }));
}

export class Refused extends Error {
  constructor(status, said) {
    super(said?.error ?? `the server says ${status}`);
    this.status = status;
    this.said = said;
  }
}

async function read(response) {
  const said = await response.json().catch(() => null);
  if (!response.ok) throw new Refused(response.status, said);
  return said;
}
