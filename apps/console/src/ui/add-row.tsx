import { Plus } from 'lucide-react';
import { Button } from './button';

/** Adds a row to those above it. */
export function AddRow({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <div>
      <Button onClick={onClick}>
        <Plus size={15} aria-hidden="true" /> {text}
      </Button>
    </div>
  );
}
