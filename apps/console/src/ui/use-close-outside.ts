import { type RefObject, useEffect } from 'react';

/** Closes an open box on Escape or on a click outside. After Escape, the button that opened it gets the focus. */
export function useCloseOutside(
  box: RefObject<HTMLElement | null>,
  isOpen: boolean,
  close: () => void,
): void {
  useEffect(() => {
    if (!isOpen) return;
    const listen = (event: Event): void => {
      const isKey = event instanceof KeyboardEvent;
      if (isKey ? event.key !== 'Escape' : box.current?.contains(event.target as Node)) return;
      if (isKey) box.current?.querySelector<HTMLElement>('[aria-expanded]')?.focus();
      close();
    };
    document.addEventListener('pointerdown', listen);
    document.addEventListener('keydown', listen);
    return () => {
      document.removeEventListener('pointerdown', listen);
      document.removeEventListener('keydown', listen);
    };
  }, [box, isOpen, close]);
}
