/**
 * Ends the sessions of the copies of a tab: a browser that duplicates a tab copies its session storage, and with it a key that is
 * kept. The tabs tell each other the id of the session, never the key.
 */

const CHANNEL = 'keyplane-signed-out'

export interface Copies {
  /** Tells the copies of this tab that the person has signed out. */
  tell(): void
  close(): void
}

/** Calls `end` when the person signs out in a copy of this tab. A tab listens and tells on one channel, which does not hear itself. */
export function openCopies(id: string, end: () => void): Copies {
  const channel = new BroadcastChannel(CHANNEL)
  channel.onmessage = ({ data }) => {
    if (data === id) end()
  }
  return { tell: () => channel.postMessage(id), close: () => channel.close() }
}
