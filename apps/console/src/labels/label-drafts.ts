/** Labels while they are edited. */
import { t } from '../text/text';

export interface LabelDraft {
  key: string;
  value: string;
}

/** Same check of keys as the API: packages/contracts/src/labels.ts. */
const KEY = /^[A-Za-z][A-Za-z0-9._~-]*$/;
const LONGEST = 256;

/** Returns the labels in the format of the API, without empty rows. */
export const labelsToSend = (drafts: readonly LabelDraft[]): Record<string, string>[] =>
  drafts.filter((draft) => !isEmpty(draft)).map(({ key, value }) => ({ [key.trim()]: value.trim() }));

const isEmpty = ({ key, value }: LabelDraft): boolean => key.trim() === '' && value.trim() === '';

/** Returns the errors by row number. */
export function labelErrors(drafts: readonly LabelDraft[]): Record<number, string> {
  const errors: Record<number, string> = {};
  const seen = new Set<string>();
  drafts.forEach((draft, row) => {
    if (isEmpty(draft)) return;
    const [key, value] = [draft.key.trim(), draft.value.trim()];
    const pair = `${key.toLowerCase()}=${value}`;
    if (!KEY.test(key) || key.length > LONGEST) errors[row] = t.labels.badKey;
    else if (value.length > LONGEST) errors[row] = t.labels.tooLong(LONGEST);
    else if (seen.has(pair)) errors[row] = t.labels.twice;
    seen.add(pair);
  });
  return errors;
}
