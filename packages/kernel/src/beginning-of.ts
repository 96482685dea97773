/** The text, or its beginning and how long it is: what people read need not be longer, and lists of it must be carried. */
export function beginningOf(text: string, mostChars: number): string {
  return text.length <= mostChars ? text : `${text.slice(0, mostChars)} ... (${text.length} characters)`;
}
