/** The exchange of an ID token for an access key (RFC 8693). */

export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Returns the form of an exchange of an ID token for an access key. */
export const exchangeForm = (clientID: string, idToken: string, scope?: string): string =>
  new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    client_id: clientID,
    subject_token: idToken,
    ...(scope && { scope }),
  }).toString()
