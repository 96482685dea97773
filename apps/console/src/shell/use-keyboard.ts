import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { createShortcuts, isTypingIn, moveInRows } from './keyboard';
import { PLACE_KEYS } from './places';

/** Listens to the keys of shell/keyboard.ts while the screens of a tenant are shown. */
export function useKeyboard(tenant: string, onOpen: (dialog: 'help' | 'palette') => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    const read = createShortcuts(PLACE_KEYS);
    const listen = (event: KeyboardEvent): void => {
      const shortcut = read(event, isTypingIn(event.target), event.timeStamp);
      if (!shortcut) return;
      event.preventDefault();
      if (shortcut === 'search') document.querySelector<HTMLInputElement>('[data-search]')?.focus();
      else if (shortcut === 'help' || shortcut === 'palette') onOpen(shortcut);
      else if (shortcut === 'next' || shortcut === 'previous') moveInRows(shortcut === 'next' ? 1 : -1);
      else void navigate({ to: shortcut, params: { tenant } });
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [navigate, tenant, onOpen]);
}
