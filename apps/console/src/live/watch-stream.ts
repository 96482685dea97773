/** Detects when an event stream opens and breaks, by observing the requests of its reader. */

export type StreamState = 'connecting' | 'live' | 'reconnecting';

/** Wraps `fetch` for one reader of a stream. Calls `onState` once per change of the state. */
export function watchStream(onState: (state: StreamState) => void): (send: typeof fetch) => typeof fetch {
  let state: StreamState | null = null;
  const become = (next: StreamState): void => {
    if (state === next) return;
    state = next;
    onState(next);
  };
  return (send) => async (input, init) => {
    become(state === null || state === 'connecting' ? 'connecting' : 'reconnecting');
    const response = await send(input, init);
    if (response.ok && response.body) become('live');
    // The reader reconnects after a pause; until then the UI shows the interruption.
    if (!response.body) return response;
    return new Response(response.body.pipeThrough(seenEnd(() => become('reconnecting'))), response);
  };
}

/** Passes bytes through and calls `onEnd` at their end. */
function seenEnd(onEnd: () => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({ flush: onEnd });
}
