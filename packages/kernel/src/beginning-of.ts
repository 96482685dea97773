/**
 * Returns the text, or its beginning with its length: longer texts are not useful to people, and lists of them must be
 * transported.
 */
export function beginningOf(text: string, mostChars: number): string {
  return text.length <= mostChars ? text : `${text.slice(0, mostChars)} ... (${text.length} characters)`;
}
