/** Keyboard shortcuts that work on all screens. */

const SINGLE = {
  '/': 'search',
  '?': 'help',
  ':': 'palette',
  j: 'next',
  k: 'previous',
} as const satisfies Readonly<Record<string, string>>;
/** The action of a key, or the place of a key after `g`. */
export type Shortcut<Place extends string> = (typeof SINGLE)[keyof typeof SINGLE] | Place;

/** Maximum time between `g` and the second key. */
const SEQUENCE_MS = 1_000;

interface KeyLike {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/**
 * Returns a function that interprets keys in sequence. `nowMs`: the time of the key press. `places`: places by the key after `g`.
 */
export function createShortcuts<Place extends string>(
  places: Readonly<Record<string, Place>>,
): (event: KeyLike, isTyping: boolean, nowMs: number) => Shortcut<Place> | null {
  let afterG = Number.NEGATIVE_INFINITY;
  return (event, isTyping, nowMs) => {
    // Ctrl+K opens the palette everywhere, as in other applications.
    if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey) return 'palette';
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return null;
    const isSecond = nowMs - afterG <= SEQUENCE_MS;
    afterG = event.key === 'g' ? nowMs : Number.NEGATIVE_INFINITY;
    const single: Readonly<Record<string, Shortcut<Place>>> = SINGLE;
    return (isSecond ? places[event.key] : single[event.key]) ?? null;
  };
}

/** Whether the focused element needs the keys itself. */
export function isTypingIn(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog]') !== null
  );
}

/** Moves the focus to the next or previous row's link. */
export function moveInRows(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('[data-rows] a')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = links[at < 0 ? 0 : at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
