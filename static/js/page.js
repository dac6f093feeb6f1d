// What HTML and HTMX leave open: said words, kept places, the composer, the slider.
(() => {
  "use strict";

  const live = document.getElementById("live");

  // ── One region speaks ─────────────────────────────────────────────────────
  const TOAST_SECONDS = 6;
  const UNDO_SECONDS = 20; // time to read, and to get there by keyboard

  function speak(text, className, tone) {
    const line = document.createElement("div");
    line.className = className;
    line.textContent = text;
    if (tone) line.dataset.tone = tone;
    live.append(line);
    return line;
  }

  function say(text, tone, undo) {
    live.querySelectorAll(".toast").forEach((toast) => {
      if (undo || toast.textContent === text) toast.remove();
    });
    const toast = speak(text, "toast", tone);
    if (undo) offer(toast, undo);
    leave(toast);
  }

  // The newest message alone offers to take its act back.
  function offer(toast, undo) {
    const form = document.getElementById("undo-form").content.firstElementChild.cloneNode(true);
    form.elements.events.value = undo;
    toast.append(form);
    htmx.process(toast);
  }

  // It stays as long as somebody points at it or stands in it.
  function leave(toast) {
    const seconds = toast.querySelector(".undo") ? UNDO_SECONDS : TOAST_SECONDS;
    setTimeout(() => {
      if (toast.matches(":hover, :focus-within")) leave(toast);
      else toast.remove();
    }, seconds * 1000);
  }

  document.body.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt.matches(".undo")) event.detail.elt.closest(".toast")?.remove();
  });

  function announce(text) {
    live.querySelectorAll(".visually-hidden").forEach((line) => line.remove());
    speak(text, "visually-hidden");
  }

  live.querySelectorAll(".toast").forEach(leave);
  document.body.addEventListener("page:say", ({ detail }) => say(detail.text, detail.tone, detail.undo));
  document.body.addEventListener("page:announce", (event) => announce(event.detail.text));
  document.body.addEventListener("htmx:responseError", () => say(live.dataset.failed, "bad"));
  document.body.addEventListener("htmx:sendError", () => say(live.dataset.offline, "bad"));

  // ── A swapped part keeps what the person had: unfolded rows, typed text, focus ──
  const FIELDS = "input:not([type=hidden], [type=range], [type=password])[id], textarea[id], select[id]";
  const typed = new Map();
  const unfolded = new Set();
  let focusTrail = []; // ids from the focused element outwards: the nearest that is left gets the focus

  function isLost() {
    return document.activeElement === null || document.activeElement === document.body;
  }

  function rememberFocus(within) {
    if (!within.contains(document.activeElement) || isHeldByAncestor()) return;
    focusTrail = [];
    for (let element = document.activeElement; element !== document.body; element = element.parentElement) {
      if (element.id) focusTrail.push(element.id);
    }
  }

  // A row unfolds in two steps, so the focused field may arrive after the part that holds it.
  function isHeldByAncestor() {
    return focusTrail.indexOf(document.activeElement?.id) > 0;
  }

  function restoreFocus() {
    const survivor = focusTrail.map((id) => document.getElementById(id)).find(Boolean);
    if (!survivor) return;
    if (survivor.tabIndex < 0) survivor.tabIndex = -1;
    survivor.focus({ preventScroll: true });
  }

  // Which property of a field the person sets, and what the server had it at.
  function stateOf(field) {
    if (field.matches("[type=checkbox], [type=radio]")) return ["checked", field.defaultChecked];
    if (!field.matches("select")) return ["value", field.defaultValue];
    const chosen = [...field.options].find((option) => option.defaultSelected) ?? field.options[0];
    return ["value", chosen?.value];
  }

  function rememberTyped(part) {
    part.querySelectorAll("details[open][id]").forEach((details) => unfolded.add(details.id));
    part.querySelectorAll(FIELDS).forEach((field) => {
      const [property, before] = stateOf(field);
      if (field[property] !== before) typed.set(field.id, field[property]);
    });
  }

  document.body.addEventListener("htmx:beforeSwap", (event) => {
    const part = event.detail.target;
    if (!part || !event.detail.shouldSwap) return;
    rememberTyped(part);
    rememberFocus(part);
  });

  function restore(part) {
    const all = (selector) => [...(part.matches?.(selector) ? [part] : []), ...part.querySelectorAll(selector)];
    all("details[id]").forEach((details) => {
      if (unfolded.delete(details.id)) details.open = true;
    });
    all(FIELDS).forEach((field) => {
      if (!typed.has(field.id)) return;
      const [property, before] = stateOf(field);
      field[property] = typed.get(field.id);
      if (field.selectedIndex === -1) field.value = before; // what was chosen is gone
      typed.delete(field.id);
      if (field.id === "composer-text") fit(field);
    });
    all("[data-announce]").forEach((element) => announce(element.dataset.announce));
    if (isLost() || isHeldByAncestor()) restoreFocus();
  }

  document.body.addEventListener("htmx:load", (event) => restore(event.detail.elt));

  // ── A browser that kept the whole page shows it only to whoever is signed in now ──
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    document.body.hidden = true;
    location.reload();
  });

  // ── A page that must load anew, or sign in first, keeps it too: in this tab, for this person and address ──
  const DRAFT = "draft";
  const SENT = "sent"; // by a plain form: a draft again if that led to the sign-in page (signing-in.js)
  const here = [document.body.dataset.person, location.pathname + location.search];

  function keepDraft(key = DRAFT) {
    rememberTyped(document.body);
    sessionStorage.setItem(key, JSON.stringify({ here, typed: [...typed], unfolded: [...unfolded] }));
  }

  function takeDraft() {
    sessionStorage.removeItem(SENT);
    const draft = JSON.parse(sessionStorage.getItem(DRAFT));
    if (!draft) return;
    const [person, address] = draft.here;
    if (person === here[0] && address !== here[1]) return;
    sessionStorage.removeItem(DRAFT);
    if (person !== here[0]) return;
    draft.typed.forEach(([id, value]) => typed.set(id, value));
    draft.unfolded.forEach((id) => unfolded.add(id));
  }

  takeDraft();
  document.body.addEventListener("page:leaving", () => keepDraft());
  document.addEventListener("submit", (event) => {
    if (!event.defaultPrevented && event.target.method === "post") keepDraft(SENT);
  });
  document.body.addEventListener("htmx:beforeOnLoad", (event) => {
    if (!event.detail.xhr.getResponseHeader("HX-Redirect")) return;
    if (event.detail.elt.id === "composer") giveBack(event.detail.elt);
    keepDraft();
  });

  // While a form is carried out its button is disabled and loses the focus; a form that was is empty again.
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    const form = event.detail.elt;
    if (!form.matches("form[method=post]")) return;
    form.setAttribute("aria-busy", "true");
    rememberFocus(form);
  });
  // A part of a form that fetched itself anew is gone by then, and HTMX tells its form instead.
  document.body.addEventListener("htmx:afterRequest", (event) => {
    const form = event.detail.elt;
    if (!form.matches("form[method=post]") || event.detail.requestConfig.elt !== form) return;
    form.removeAttribute("aria-busy");
    if (isLost()) restoreFocus();
    if (event.detail.successful && form.id !== "composer") {
      form.reset();
      form.closest("details.inline")?.removeAttribute("open");
    }
  });

  // ── Composer ──────────────────────────────────────────────────────────────
  const NEAR_THE_END = 240;
  let following = true;

  function toTheEnd() {
    window.scrollTo({ top: document.documentElement.scrollHeight });
  }

  function fit(field) {
    field.style.setProperty("height", "auto");
    field.style.setProperty("height", `${field.scrollHeight}px`);
  }

  document.addEventListener("input", (event) => {
    if (event.target.id === "composer-text") fit(event.target);
  });

  document.addEventListener("keydown", (event) => {
    if (event.target.id !== "composer-text" || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (event.target.value.trim()) event.target.form.requestSubmit();
  });

  // A link may have begun a sentence: it goes on where that ends.
  const begun = document.querySelector("#composer-text[data-begun]");
  if (begun) {
    fit(begun);
    begun.focus();
    begun.setSelectionRange(begun.value.length, begun.value.length);
  }

  // The field is free at once for the next sentence; a failure gives the words back.
  document.body.addEventListener("htmx:beforeSend", (event) => {
    if (event.detail.elt.id !== "composer") return;
    const field = document.getElementById("composer-text");
    event.detail.elt.dataset.sent = field.value;
    field.value = "";
    fit(field);
    following = true;
  });
  document.body.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt.id !== "composer" || event.detail.successful || event.detail.xhr.status === 422) return;
    giveBack(event.detail.elt);
  });

  function giveBack(composer) {
    const field = document.getElementById("composer-text");
    if (!field || field.value) return;
    field.value = composer.dataset.sent;
    fit(field);
  }

  document.body.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target?.id !== "chat-stream") return;
    following ||= document.documentElement.scrollHeight - window.innerHeight - window.scrollY < NEAR_THE_END;
  });
  document.body.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target?.id !== "chat-stream") return;
    if (following) toTheEnd();
    following = false;
  });
  if (document.getElementById("chat-stream") && !location.hash.startsWith("#message-")) {
    document.fonts.ready.then(toTheEnd);
    toTheEnd();
  }

  // ── Slider: words and line move at once, the facts follow ─────────────────
  document.addEventListener("input", (event) => {
    const slider = event.target;
    if (slider.id !== "asof-step") return;
    const option = slider.list.options[Number(slider.value)];
    slider.setAttribute("aria-valuetext", option.label);
    document.getElementById("asof-words").textContent = option.label;
    document.getElementById("asof-fill").setAttribute("x2", `${option.dataset.percent}%`);
  });

  // ── The slash leads to the search field of the page ───────────────────────
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    const field = document.querySelector("[data-search]");
    if (!field) return;
    event.preventDefault();
    field.focus();
    field.select();
  });

  // ── A link to a row brings it into view, below the bar ────────────────────
  if (location.hash.startsWith("#fact-")) {
    document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: "center" });
  }
})();
