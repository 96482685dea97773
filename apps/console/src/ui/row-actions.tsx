import { Pencil, Trash2 } from 'lucide-react';
import { t } from '../text/text';
import { Button } from './button';
import cells from './row-cells.module.css';

/** Edit and delete buttons at the end of a row. Actions without a handler are left out. */
export function RowActions({
  name,
  onEdit,
  onDelete,
}: {
  name: string;
  onEdit: (() => void) | null;
  onDelete: (() => void) | null;
}) {
  return (
    <span className={`${cells.pair} ${cells.above}`}>
      {onEdit && (
        <Button look="icon" aria-label={t.resource.editNamed(name)} title={t.resource.edit} onClick={onEdit}>
          <Pencil size={16} aria-hidden="true" />
        </Button>
      )}
      {onDelete && (
        <Button
          look="icon"
          aria-label={t.resource.deleteNamed(name)}
          title={t.resource.delete}
          onClick={onDelete}
        >
          <Trash2 size={16} aria-hidden="true" />
        </Button>
      )}
    </span>
  );
}
