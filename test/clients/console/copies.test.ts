/** Signing out in one tab, and what its copies hear. Node.js delivers messages of a BroadcastChannel as browsers do. */
import { expect, onTestFinished, test } from 'vitest'
import { openCopies } from '../../../clients/console/src/session/copies.ts'

const tab = (id: string) => {
  const heard: string[] = []
  const next = Promise.withResolvers<void>()
  const copies = openCopies(id, () => {
    heard.push(id)
    next.resolve()
  })
  onTestFinished(() => copies.close())
  return { copies, heard, next: next.promise }
}

test('copies of a tab hear that the person has signed out, and the tab itself and other sessions do not', async () => {
  const [self, other, copy] = [tab('one'), tab('two'), tab('one')]
  self.copies.tell()
  await copy.next
  // Channels hear messages in the order in which they were opened.
  expect([self.heard, other.heard, copy.heard]).toEqual([[], [], ['one']])
})
