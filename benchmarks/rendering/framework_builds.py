"""Build client and streamed applications with npm and esbuild: Svelte, Angular, Solid, Preact, Lit, Alpine, React 19.

These sections are held out: the rules and thresholds of `--render auto` were chosen before they were written.
"""

import json
import subprocess
from pathlib import Path

from msgspec import Struct

PACKAGES = (
    "svelte@5", "esbuild", "esbuild-svelte", "@angular/core@19", "@angular/common@19", "@angular/compiler@19",
    "@angular/platform-browser@19", "@angular/platform-browser-dynamic@19", "rxjs", "zone.js", "react@19",
    "react-dom@19", "preact", "solid-js", "lit", "alpinejs",
)  # fmt: skip
SOURCES = {
    "App.svelte": """<script>
  let data = $state(null);
  fetch(window.API).then(r => r.json()).then(found => { data = found; });
</script>
{#if data?.items}<main><h1>List</h1><ul>{#each data.items as i}<li><a href={window.BASE + i}>Item {i}</a></li>{/each}
</ul></main>{:else if data}<main><h1>{data.title}</h1><p>{data.text}</p></main>{:else}<p>Loading</p>{/if}""",
    "svelte.js": """import { mount } from "svelte"; import App from "./App.svelte";
mount(App, { target: document.getElementById("app") });""",
    "angular.ts": """import "zone.js"; import "@angular/compiler";
import { Component, ChangeDetectorRef } from "@angular/core"; import { NgFor, NgIf } from "@angular/common";
import { bootstrapApplication } from "@angular/platform-browser";
@Component({ selector: "app-root", standalone: true, imports: [NgFor, NgIf], template: `
  <main *ngIf="data?.items"><h1>List</h1>
    <p *ngFor="let i of data.items"><a [href]="base + i">Item {{ i }}</a></p></main>
  <main *ngIf="data?.text"><h1>{{ data.title }}</h1><p>{{ data.text }}</p></main>` })
class App {
  data: any = null; base = (window as any).BASE;
  async ngOnInit() { this.data = await (await fetch((window as any).API)).json(); }
}
bootstrapApplication(App);""",
    "solid.js": """import html from "solid-js/html"; import { createSignal } from "solid-js";
import { render } from "solid-js/web";
function App() {
  const [data, set] = createSignal(null); fetch(window.API).then(r => r.json()).then(set);
  return html`<main>${() => data()?.items ? data().items.map(i => html`<p><a href=${window.BASE + i}>Item ${i}</a></p>`)
    : html`<h1>${() => data()?.title}</h1><p>${() => data()?.text}</p>`}</main>`;
}
render(App, document.getElementById("app"));""",
    "preact.js": """import { h, render } from "preact"; import { useEffect, useState } from "preact/hooks";
function App() {
  const [data, set] = useState(null); useEffect(() => { fetch(window.API).then(r => r.json()).then(set); }, []);
  if (!data) return h("p", null, "Loading");
  return data.items ? h("ul", null, data.items.map(i => h("li", null, h("a", { href: window.BASE + i }, "Item " + i))))
    : h("main", null, h("h1", null, data.title), h("p", null, data.text));
}
render(h(App), document.getElementById("app"));""",
    "lit.js": """import { LitElement, html } from "lit";
customElements.define("item-page", class extends LitElement {
  static properties = { data: { state: true } };
  async connectedCallback() { super.connectedCallback(); this.data = await (await fetch(window.API)).json(); }
  render() {
    if (!this.data) return html`<p>Loading</p>`;
    return this.data.items ? this.data.items.map(i => html`<p><a href=${window.BASE + i}>Item ${i}</a></p>`)
      : html`<article><h1>${this.data.title}</h1><p>${this.data.text}</p></article>`;
  }
});
document.getElementById("app").append(document.createElement("item-page"));""",
    "alpine.js": """import Alpine from "alpinejs"; window.Alpine = Alpine; Alpine.start();""",
    "streamed.js": """import { hydrateRoot } from "react-dom/client"; import { Page } from "./page.js";
hydrateRoot(document.getElementById("app"), Page(window.ITEM));""",
    "page.js": """import { createElement as e, Suspense, use, useState, useEffect } from "react";
const cache = new Map();
function Text({ item }) {
  if (!cache.has(item.title)) cache.set(item.title, new Promise(done => setTimeout(() => done(item.text), 20)));
  const text = use(cache.get(item.title)), [count, set] = useState(0);
  useEffect(() => set(1), []);
  return e("p", { "data-count": count }, text);
}
export const Page = item => e("main", null, e("h1", null, item.title),
  e(Suspense, { fallback: e("p", null, "Loading") }, e(Text, { item })));""",
    "stream.js": """import { renderToPipeableStream } from "react-dom/server"; import { Page } from "./page.js";
import { Writable } from "node:stream"; import { readFileSync } from "node:fs";
const all = [];
for (const item of JSON.parse(readFileSync(0))) all.push(await new Promise((done) => {
  let text = "";
  const sink = new Writable({ write(chunk, _, next) { text += chunk; next(); }, final(next) { next(); done(text); } });
  const stream = renderToPipeableStream(Page(item), { onShellReady() { stream.pipe(sink); } });
}));
process.stdout.write(JSON.stringify(all));""",
    "build.mjs": """import { build } from "esbuild"; import svelte from "esbuild-svelte";
const common = { bundle: true, minify: true, outdir: "out",
  define: { "process.env.NODE_ENV": '"production"', ngDevMode: "false" },
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } } };
const client = { ...common, plugins: [svelte()], mainFields: ["svelte", "browser", "module", "main"],
  conditions: ["svelte", "browser"] };
await build({ ...client, entryPoints: ["svelte.js", "solid.js", "preact.js", "lit.js", "alpine.js", "streamed.js"] });
// zone.js, and so Angular, does not notice the end of native async functions.
await build({ ...client, supported: { "async-await": false }, entryPoints: ["angular.ts"] });
await build({ ...common, platform: "node", format: "esm", entryPoints: ["stream.js"], outExtension: { ".js": ".mjs" },
  banner: { js: 'import { createRequire } from "module"; const require = createRequire(import.meta.url);' } });""",
}
CLIENT_NAMES = ("svelte", "angular", "solid", "preact", "lit", "alpine")
ROOTS = {
    "angular": "<app-root></app-root>",
    "alpine": """<main x-data="{ data: {}, base: window.BASE }" x-init="data = await (await fetch(window.API)).json()">
      <template x-for="i in data.items || []"><p><a :href="base + i" x-text="'Item ' + i"></a></p></template>
      <h1 x-text="data.title"></h1><p x-text="data.text"></p></main>""",
}


class FrameworkBuilds(Struct, frozen=True):
    """Bundles by name, and a function of the folder that streams React pages."""

    folder: Path
    scripts: dict[str, bytes]

    def stream_pages(self, items: list[dict[str, str]]) -> list[str]:
        """Return the HTML that React streams for each item, in the order in which it arrives."""
        command = ["node", str(self.folder / "out/stream.mjs")]
        found = subprocess.run(command, input=json.dumps(items).encode(), capture_output=True, check=True)
        pages: list[str] = json.loads(found.stdout)
        return pages


def build_frameworks(folder: Path) -> FrameworkBuilds:
    """Install the packages with npm and build the bundles in a folder, once."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "node_modules/esbuild-svelte").exists():
        (folder / "package.json").write_text('{"private": true}')
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *PACKAGES], cwd=folder, check=True)
    for name, source in SOURCES.items():
        (folder / name).write_text(source)
    subprocess.run(["node", "build.mjs"], cwd=folder, check=True)
    names = (*CLIENT_NAMES, "streamed")
    return FrameworkBuilds(folder, {f"{name}.js": (folder / f"out/{name}.js").read_bytes() for name in names})
