/** Ends keys of exchanges at the public endpoint of the API. */
import { askJSON } from '../api/askjson.ts'
import { NetworkError } from '../api/status.ts'

/** Ends a key that an exchange made, even while the page is being closed. Throws if it may not have ended. */
export async function revoke(key: string, api: URL): Promise<void> {
  const { status } = await sendForm(new URL('oauth2/revoke', api), { token: key }, true)
  if (status !== 200) throw new Error(`code ${status}`)
}

/** Sends a form to the API. Throws a NetworkError if there is no answer. */
export async function sendForm(url: URL, form: Record<string, string> | string, keepalive = false) {
  try {
    return await askJSON(url, form, { keepalive })
  } catch (error) {
    throw new NetworkError(error)
  }
}
