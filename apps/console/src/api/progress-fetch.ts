/** A replacement of `fetch` for uploads with progress: fetch itself does not report how much has been sent. */

const WITHOUT_BODY = new Set([204, 205, 304]);

export const progressFetch =
  (onProgress: (sentBytes: number, totalBytes: number) => void): typeof fetch =>
  (input, init = {}) =>
    new Promise<Response>((resolve, reject) => {
      const { signal } = init;
      if (signal?.aborted) return reject(signal.reason as Error);
      const request = new XMLHttpRequest();
      request.open(init.method ?? 'GET', String(input));
      new Headers(init.headers).forEach((value, name) => request.setRequestHeader(name, value));
      request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total);
      request.onload = () =>
        resolve(
          new Response(WITHOUT_BODY.has(request.status) ? null : request.responseText, {
            status: request.status,
            headers: headersOf(request.getAllResponseHeaders()),
          }),
        );
      // Same error as fetch throws.
      request.onerror = () => reject(new TypeError('The connection broke'));
      request.onabort = () => reject(signal?.reason as Error);
      signal?.addEventListener('abort', () => request.abort(), { once: true });
      request.send(init.body as XMLHttpRequestBodyInit | null);
    });

function headersOf(text: string): Headers {
  const headers = new Headers();
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}
