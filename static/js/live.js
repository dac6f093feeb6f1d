// Live notices: frames carry ids only; each becomes a DOM event on which parts of the page fetch themselves anew.
(() => {
  "use strict";

  const EVENTS = {
    "memory.committed": "memory:committed",
    "chat.message": "chat:message",
    "proposal.changed": "proposal:changed",
    "curator.ran": "curator:ran",
    "notes.changed": "notes:changed",
    "grant.changed": "grant:changed",
  };
  const FIRST_WAIT = 500;
  const LONGEST_WAIT = 30000;

  // An act on one's own rights sends a notice while its answer is on the way: loading anew would break that off.
  const LEAVING_WAIT = 1500;

  let wait = FIRST_WAIT;
  let isLeaving = false;
  let wasLost = false;

  function dispatch(name, ids) {
    document.body.dispatchEvent(new CustomEvent(name, { detail: { ids } }));
  }

  function loadAnew() {
    document.body.dispatchEvent(new CustomEvent("page:leaving"));
    location.reload();
  }

  function connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/ws/`);

    socket.addEventListener("open", () => {
      wait = FIRST_WAIT;
      if (wasLost) Object.values(EVENTS).forEach((name) => dispatch(name, []));
      wasLost = false;
    });

    socket.addEventListener("message", (message) => {
      const frame = JSON.parse(message.data);
      if (frame.type === "access.changed") setTimeout(loadAnew, isLeaving ? LEAVING_WAIT : 0);
      else if (EVENTS[frame.type]) dispatch(EVENTS[frame.type], frame.ids);
    });

    socket.addEventListener("close", (closing) => {
      const SIGNED_OUT = 4401;
      if (closing.code === SIGNED_OUT) return;
      wasLost = true;
      setTimeout(connect, wait * (0.5 + Math.random() / 2));
      wait = Math.min(wait * 2, LONGEST_WAIT);
    });
  }

  window.addEventListener("beforeunload", () => {
    isLeaving = true;
  });

  connect();
})();
