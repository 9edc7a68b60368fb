/** Recognizes secrets in what people type, such as a filter, before it becomes part of an address. */

/**
 * The beginning of an access key (lib/keys/credential/accesskey.ts) or of a token (RFC 7519), and private keys: in PEM, and as a JWK
 * (RFC 7518 section 6), also in a text of JSON.
 */
const SECRET = /mpk_\w|eyJ\w|PRIVATE KEY-|"(d|k)\\*"\s*:/

/** Reports whether the text has an access key that the server has made, a token or a private key, or the beginning of one. */
export const hasSecret = (text: string): boolean => SECRET.test(text)
