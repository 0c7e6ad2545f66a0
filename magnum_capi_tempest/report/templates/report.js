'use strict';
(() => {
  const tests = [...document.querySelectorAll('.test')];
  const buttons = [...document.querySelectorAll('nav button')];
  const field = document.querySelector('nav input');
  const none = document.querySelector('#none');
  let status = '';
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const test of tests) {
      const text = test.textContent.toLowerCase();
      test.hidden = (status && test.dataset.status !== status) ||
        !words.every((word) => text.includes(word));
      shown += test.hidden ? 0 : 1;
    }
    none.hidden = shown > 0 || tests.length === 0;
    for (const button of buttons) {
      button.setAttribute('aria-pressed', button.dataset.status === status);
    }
  };
  for (const button of buttons) {
    button.addEventListener('click', () => {
      status = status === button.dataset.status ? '' : button.dataset.status;
      apply();
    });
  }
  field.addEventListener('input', apply);
  document.querySelector('nav').hidden = false;
})();
