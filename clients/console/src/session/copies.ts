/**
 * Ends the sessions of the copies of a tab: a browser that duplicates a tab copies its session storage, and with it a key that is
 * kept. The tabs tell each other the id of the session, never the key.
 */

const CHANNEL = 'keyplane-signed-out'

/** Tells the copies of this tab that the person has signed out. */
export function tellCopies(id: string): void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.postMessage(id)
  channel.close()
}

/** Calls `end` when the person signs out in a copy of this tab, until the returned function is called. */
export function onCopySignedOut(id: string, end: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (data === id) end()
  }
  return () => channel.close()
}
