// The shared chunk is loaded beside the shell: every screen needs it, and the browser would ask for it only when the shell runs.

/** A plugin of Vite that names the chunk `shared` and its styles in index.html. */
export function preloadShared() {
  return {
    name: 'preload-shared',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        const shared = Object.values(bundle).find((one) => one.type === 'chunk' && one.name === 'shared');
        if (!shared) throw new Error('preload-shared: no chunk is named shared');
        const styles = [...(shared.viteMetadata?.importedCss ?? [])];
        return [
          link({ rel: 'modulepreload', href: shared.fileName }),
          ...styles.map((href) => link({ rel: 'preload', as: 'style', href })),
        ];
      },
    },
  };
}

const link = ({ href, ...attributes }) => ({
  tag: 'link',
  attrs: { ...attributes, crossorigin: true, href: `/ui/${href}` },
  injectTo: 'head',
});
