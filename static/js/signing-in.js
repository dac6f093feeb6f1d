// A form that led to the sign-in page was not carried out: what was typed waits for who signs in. Whoever signed out
// leaves nothing behind.
(() => {
  "use strict";

  const back = document.getElementById("next").value;
  const sent = sessionStorage.getItem("sent");
  if (back && sent) sessionStorage.setItem("draft", sent);
  if (!back) sessionStorage.clear();
  sessionStorage.removeItem("sent");
})();
