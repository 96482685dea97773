/** Columns that many lists have. */
import { t } from '../text/text';
import { Time } from './time';
import type { ListColumn } from './virtual-list';
import { type Visibility, VisibilityText } from './visibility';

/** Who sees the thing of a row. */
export const visibilityColumn = <Row extends { visibility: Visibility }>(
  width = 'minmax(120px, 1fr)',
): ListColumn<Row> => ({
  id: 'visibility',
  name: t.visibility.label,
  width,
  isWideOnly: true,
  cell: (row) => <VisibilityText of={row.visibility} />,
});

/** A moment in the life of the thing of a row. */
export const timeColumn = <Row,>(
  id: string,
  name: string,
  at: (row: Row) => string | null,
): ListColumn<Row> => ({
  id,
  name,
  width: '170px',
  isWideOnly: true,
  cell: (row) => <Time at={at(row)} />,
});
