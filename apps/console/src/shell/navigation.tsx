/** Navigation in groups at the left; on narrow screens behind a button. */
import { Link } from '@tanstack/react-router';
import { Menu, X } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useMay } from '../api/api-context';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { useCloseOutside } from '../ui/use-close-outside';
import styles from './navigation.module.css';
import { isIn, placesFor } from './places';

export function Navigation({ tenant, path }: { tenant: string; path: string }) {
  const may = useMay(true);
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const close = useCallback(() => setOpen(false), []);
  useCloseOutside(box, isOpen, close);
  // Closes the menu after a navigation.
  useEffect(close, [path]);
  // On a low screen the current entry may be outside of the visible part.
  useEffect(() => {
    box.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest' });
  }, [path]);
  useEffect(() => {
    if (isOpen) box.current?.querySelector<HTMLElement>('nav a')?.focus();
  }, [isOpen]);
  return (
    <div className={styles.box} ref={box}>
      <Button
        look="icon"
        className={styles.button}
        aria-label={isOpen ? t.nav.closeMenu : t.nav.openMenu}
        aria-expanded={isOpen}
        aria-controls="navigation"
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? <X size={20} aria-hidden="true" /> : <Menu size={20} aria-hidden="true" />}
      </Button>
      <nav id="navigation" className={styles.nav} data-open={isOpen} aria-label={t.nav.label}>
        {placesFor(may).map(({ text, places, isFolded = false }) => {
          const isHere = places.some(({ to }) => isIn(path, to, tenant));
          return (
            <details key={`${text} ${isHere}`} className={styles.group} open={isHere || !isFolded}>
              <summary className={styles.name}>{text}</summary>
              {places.map(({ to, Icon, text: name }) => (
                <Link
                  key={to}
                  to={to}
                  params={{ tenant }}
                  className={styles.place}
                  // By default the router marks a link as current on all addresses below it.
                  activeOptions={{ exact: true }}
                  aria-current={isIn(path, to, tenant) ? 'page' : undefined}
                >
                  <Icon size={17} aria-hidden="true" />
                  {name}
                </Link>
              ))}
            </details>
          );
        })}
      </nav>
    </div>
  );
}
