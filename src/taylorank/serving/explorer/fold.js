// On a phone the settings begin folded. Runs where it stands, before the page is drawn, so that nothing jumps.
"use strict";
if (matchMedia("(max-width: 720px)").matches) document.getElementById("settings-box").open = false;
