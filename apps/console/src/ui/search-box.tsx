import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import styles from './search-box.module.css';

/**
 * A change is reported after this pause in typing; Enter reports it immediately. `/` focuses the box (shell/keyboard.ts finds it
 * by its data attribute).
 */
const REST_MS = 250;

export function SearchBox({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  const told = useRef(value);
  // The address may also change without typing: by back, a link, or "clear all".
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    if (text === told.current) return;
    const timer = setTimeout(() => {
      told.current = text;
      onChange(text);
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  return (
    <div className={styles.box}>
      <Search size={16} aria-hidden="true" />
      <input
        type="search"
        data-search=""
        aria-label={label}
        placeholder={label}
        value={text}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
          if (event.key !== 'Enter') return;
          told.current = text;
          onChange(text);
        }}
      />
      <span className={styles.key} aria-hidden="true">
        /
      </span>
    </div>
  );
}
