/** Reads the bearer token of a request. Source: RFC 6750 section 2.1, k8s.io/apiserver bearertoken. */

/**
 * Returns the token of the Authorization header. Returns undefined when the header is absent, repeated (it would be
 * ambiguous) or has another scheme. The scheme is case-insensitive; the token's own format is not checked.
 */
export function bearerToken(values: readonly string[] | undefined): string | undefined {
  if (values?.length !== 1) return undefined
  return /^bearer +(\S+)$/i.exec(values[0]?.trim() ?? '')?.[1]
}
