"""Rules that recognize boilerplate inside the main content.

`BOILERPLATE_RULES` in `inline.py` lists them; their words are in `content/data/<language>.toml`. A new word needs no
code: see CONTRIBUTING. Noise that is learned per site is in `changes/noise_model.py`.
"""
