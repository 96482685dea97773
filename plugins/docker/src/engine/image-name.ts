/** Separates `host:5000/name:tag`; a colon before the last slash belongs to the host. */
export function separateTag(image: string): { name: string; tag: string } {
  if (image.includes('@')) return { name: image, tag: '' };
  const colon = image.indexOf(':', image.lastIndexOf('/') + 1);
  return colon < 0
    ? { name: image, tag: 'latest' }
    : { name: image.slice(0, colon), tag: image.slice(colon + 1) };
}

/** The name of an image in a path of the API: its slashes stay. */
export const imagePath = (image: string): string =>
  `/images/${image.split('/').map(encodeURIComponent).join('/')}`;
