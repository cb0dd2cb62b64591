"use strict";
/* Before anything is laid out: that there are scripts, and the theme that the reader chose before. */
document.documentElement.classList.add("js");
try {
  const theme = localStorage.getItem("misheard-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch { /* A browser may forbid storage to files. */ }
