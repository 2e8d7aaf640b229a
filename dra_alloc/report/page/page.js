"use strict";
(() => {
  const by = (id) => document.getElementById(id);
  const [space, kind, changed, count] = ["space", "class", "changed", "count"].map(by);
  const all = (where, what) => [...where.querySelectorAll(what)];
  const answers = all(document, ".answer");
  const nodes = all(document, ".node").map((node) => [node, all(node, "tbody tr")]);
  const has = (said, one) => one === "" || said.split(" ").includes(one);
  const show = () => {
    let told = 0;
    let seen = 0;
    for (const each of answers) {
      each.hidden = space.value !== "" && each.dataset.s !== space.value;
      told += each.hidden ? 0 : 1;
    }
    for (const [node, rows] of nodes) {
      let fits = rows.length === 0 && space.value === "" && kind.value === "";
      for (const row of rows) {
        row.hidden = !(has(row.dataset.s, space.value) && has(row.dataset.c, kind.value));
        fits = fits || !row.hidden;
      }
      node.hidden = !fits || (changed !== null && changed.checked && !node.classList.contains("changes"));
      seen += node.hidden ? 0 : 1;
    }
    count.textContent = `${told} of ${answers.length} answers, ${seen} of ${nodes.length} nodes`;
  };
  for (const each of [space, kind, changed]) {
    if (each !== null) each.addEventListener("change", show);
  }
  addEventListener("beforeprint", () => all(document, "details").forEach((each) => { each.open = true; }));
  show();
})();
