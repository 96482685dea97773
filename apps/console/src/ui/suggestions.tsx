/** Texts that an input suggests whose `list` is the id. */
export function Suggestions({ id, texts }: { id: string; texts: readonly string[] | undefined }) {
  return (
    <datalist id={id}>
      {texts?.map((text) => (
        <option key={text} value={text} />
      ))}
    </datalist>
  );
}
