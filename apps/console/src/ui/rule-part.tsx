import { Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button';
import styles from './rule-part.module.css';

interface RulePartProps {
  /** Name of the rule, such as `Rule 2`. */
  name: string;
  removeText: string;
  /** Null: the rule has to stay. */
  onRemove: (() => void) | null;
  /** Its fields. */
  children: ReactNode;
}

/** One rule of several in a form, with a border and a button that removes it. */
export function RulePart({ name, removeText, onRemove, children }: RulePartProps) {
  return (
    <fieldset className={styles.part}>
      <legend>{name}</legend>
      {children}
      {onRemove && (
        <Button
          look="icon"
          className={styles.remove}
          aria-label={removeText}
          title={removeText}
          onClick={onRemove}
        >
          <Trash2 size={16} aria-hidden="true" />
        </Button>
      )}
    </fieldset>
  );
}
