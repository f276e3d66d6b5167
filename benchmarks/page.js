question => new Promise(done => {
  const box = [...document.querySelectorAll("textarea[data-question]")].at(-1);
  box.value = question;
  box.dispatchEvent(new InputEvent("input", {bubbles: true}));
  setTimeout(() => {
    const began = performance.now();
    const seen = () => {
      if (!document.querySelector(".answer .headline, .answer .options, .answer .note")) return;
      watcher.disconnect();
      requestAnimationFrame(() => done(performance.now() - began));
    };
    const watcher = new MutationObserver(seen);
    watcher.observe(document.body, {childList: true, subtree: true});
    const enter = new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true});
    box.dispatchEvent(enter);
  }, 50);
})
