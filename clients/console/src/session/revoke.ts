import { sendForm } from '../api/sendform.ts'

/** Ends a key that an exchange made, even while the page is being closed. Throws if it may not have ended. */
export async function revoke(key: string, api: URL): Promise<void> {
  const { status } = await sendForm(new URL('oauth2/revoke', api), { token: key }, true)
  if (status !== 200) throw new Error(`code ${status}`)
}
