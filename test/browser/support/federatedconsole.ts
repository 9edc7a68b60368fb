/** The API with a console that has an identity provider, and a virtual cluster `oak` that belongs to alice. */
export interface FederatedConsole {
  /** Address of the console, with a slash at its end. */
  address: string
  /** Address of the API. */
  api: string
  /** Issuer of the identity provider. */
  issuer: string
  /** Logs this person in whenever a browser comes. */
  expect(accountId: string): void
  /** Refuses every browser with an error in the form of OAuth. */
  refuse(error: { error: string; error_description?: string }): void
  /** Sets whether pages of other origins may call the token endpoint. */
  allowCORS(allows: boolean): void
  /** Returns the user of a key, or undefined if it is not accepted. */
  userOf(key: string): Promise<string | undefined>
  stop(): Promise<void>
}

/** Starts both. The module is loaded without its types: those of Node.js and of browsers do not meet in what it imports. */
export async function startFederatedConsole(): Promise<FederatedConsole> {
  const path = new URL('../../support/federatedconsole.ts', import.meta.url).href
  const { start } = (await import(path)) as { start(): Promise<FederatedConsole> }
  return await start()
}
