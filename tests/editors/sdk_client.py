"""What the real SDKs send, for a Python that has `openai` and `google-genai`: run with the address
of `edit_service.EditService`, it exits with 0 if the service takes all of it."""

import base64
import io
import sys

import numpy as np
from PIL import Image

KEY = "sk-test-5ecret5ecret5ecret"


def png(pixels: "np.ndarray") -> bytes:  # type: ignore[type-arg]
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return content.getvalue()


def main(port: str) -> None:
    import openai
    from google import genai
    from google.genai import types

    image = png(np.full((480, 640, 3), 128, np.uint8))
    region = np.zeros((480, 640), bool)
    region[100:200, 100:300] = True
    alpha = np.zeros((480, 640, 4), np.uint8)
    alpha[..., 3] = np.where(region, 0, 255)

    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=KEY, max_retries=0)
    found = client.images.edit(
        model="gpt-image-2",
        image=("image.png", image, "image/png"),
        mask=("mask.png", png(alpha), "image/png"),
        prompt="zebra stripes",
        size="640x480",
        quality="low",
    )
    got = np.array(Image.open(io.BytesIO(base64.b64decode(found.data[0].b64_json))))
    assert (got[region] == (255, 0, 0)).all() and (got[~region] == 128).all()
    for wrong in ({"mask": ("mask.png", image, "image/png")}, {"size": "641x480"},
                  {"input_fidelity": "high"}):  # fmt: skip
        try:
            client.images.edit(**{
                "model": "gpt-image-2", "image": ("i.png", image, "image/png"), "prompt": "x",
                **wrong,
            })  # fmt: skip
        except openai.BadRequestError:
            continue
        raise SystemExit(f"the service took {wrong}")

    options = types.HttpOptions(base_url=f"http://127.0.0.1:{port}")
    gemini = genai.Client(api_key=KEY, http_options=options)
    reply = gemini.models.generate_content(
        model="gemini-3.1-flash-image",
        contents=[types.Part.from_bytes(data=image, mime_type="image/png"), "zebra stripes"],
        config=types.GenerateContentConfig(
            response_modalities=["IMAGE"],
            image_config=types.ImageConfig(aspect_ratio="4:3", image_size="1K"),
        ),
    )
    parts = reply.candidates[0].content.parts
    assert any(part.inline_data for part in parts)
    print("openai", openai.__version__, "google-genai", genai.__version__)


if __name__ == "__main__":
    main(sys.argv[1])
