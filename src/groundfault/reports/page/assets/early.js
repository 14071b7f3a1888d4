// Before anything is painted.
try { const chosen = localStorage.getItem("groundfault-theme"); if (chosen) document.documentElement.dataset.theme = chosen; } catch {}
document.documentElement.classList.add("js");
