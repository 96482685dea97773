/** `noun` with its indefinite article: "an integer", "a dict". */
export const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
