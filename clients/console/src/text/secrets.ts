/** Recognizes the secrets of the service in what people type, such as a filter, before it becomes part of an address. */

/** The beginning of an access key (lib/authentication/accesskey.ts) or of a token (RFC 7519). */
const SECRET = /mpk_\w|eyJ\w/

/** Reports whether the text has an access key that the server has made, or a token, or the beginning of one. */
export const hasSecret = (text: string): boolean => SECRET.test(text)
