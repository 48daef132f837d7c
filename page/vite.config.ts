// One HTML file with all scripts and styles inside, so that a recording is a single file too.
import { defineConfig, type Plugin } from "vite";

function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = Object.values(bundle).find((part) => part.fileName === "index.html");
      if (!page || page.type !== "asset") throw new Error("index.html was not built");
      let html = String(page.source);
      for (const part of Object.values(bundle)) {
        if (part === page) continue;
        const name = part.fileName.replaceAll(".", "\\.");
        const text = (part.type === "chunk" ? part.code : String(part.source)).replaceAll("</script", "<\\/script");
        const tag = part.type === "chunk"
          ? new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>`)
          : new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`);
        const filled = part.type === "chunk" ? `<script type="module">${text}</script>` : `<style>${text}</style>`;
        if (!tag.test(html)) throw new Error(`${part.fileName} is not used by index.html`);
        html = html.replace(tag, () => filled);
        delete bundle[part.fileName];
      }
      page.source = html;
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  base: "./",
  build: {
    outDir: "../taut/view/page",
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1e8,
    chunkSizeWarningLimit: 2000,
  },
});
