'use strict';
(() => {
  const tests = [...document.querySelectorAll('.test')];
  const groups = [...document.querySelectorAll('.group')];
  const asides = [...document.querySelectorAll('.aside')];
  const buttons = [...document.querySelectorAll('nav button')];
  const selects = [...document.querySelectorAll('nav select')];
  const field = document.querySelector('nav input');
  const none = document.querySelector('#none');
  if (!field) {
    return;
  }
  const folded = new Set(groups.filter((group) => group.open === false));
  let status = '';
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = selects.filter((select) => select.value);
    let shown = 0;
    for (const test of tests) {
      const text = test.textContent.toLowerCase();
      test.hidden = (status && test.dataset.status !== status) ||
        chosen.some((s) => test.dataset[s.name] !== s.value) ||
        !words.every((word) => text.includes(word));
      shown += test.hidden ? 0 : 1;
    }
    const active = Boolean(status || chosen.length || words.length);
    for (const aside of asides) {
      aside.hidden = active;
    }
    for (const group of groups) {
      // Unfold groups with matches, and hide groups without any.
      group.hidden = active && !group.querySelector('.test:not([hidden])');
      if (folded.has(group)) {
        group.open = active;
      }
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
  for (const select of selects) {
    select.addEventListener('input', apply);
  }
  field.addEventListener('input', apply);
  document.querySelector('nav').hidden = false;
})();
