import { Plus } from 'lucide-react';
import { Button } from './button';

/** Opens what makes a new thing of a list. */
export function CreateButton({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <Button look="main" onClick={onClick}>
      <Plus size={16} aria-hidden="true" /> {text}
    </Button>
  );
}
