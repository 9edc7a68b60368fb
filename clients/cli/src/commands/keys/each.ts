/** Runs a command for each of several access keys. */
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import { StatusError } from '../../api/status.ts'
import type { Format } from '../../arguments/command.ts'
import type { Io } from '../../io/io.ts'
import { note, reportError } from '../../output/messages.ts'
import { printAs } from '../../output/print.ts'

/** Does the work for every name, and continues if the server refuses one. Reports each refusal but the last, which it throws. */
export async function forEachName(
  names: readonly string[],
  io: Io,
  work: (name: string) => Promise<void>,
): Promise<void> {
  let last: StatusError | undefined
  for (const name of names) {
    try {
      await work(name)
    } catch (error) {
      // The others would fail as well, with a key that does not work or a server that fails.
      if (!(error instanceof StatusError) || error.code === 401 || error.unavailable) throw error
      if (last !== undefined) reportError(io, last)
      last = error
    }
  }
  if (last !== undefined) throw last
}

/** Changes every key, and prints the changed ones, or says what was done with each. */
export async function changeKeys(
  names: readonly string[],
  io: Io,
  { output, done }: { output: Format | undefined; done: string },
  change: (name: string) => Promise<JsonObject>,
): Promise<void> {
  const items: JsonObject[] = []
  try {
    await forEachName(names, io, async (name) => {
      items.push(await change(name))
      if (output === undefined) note(io, `${name} ${done}.`)
    })
  } finally {
    const [first] = items
    const all = names.length === 1 && first ? first : { apiVersion: 'v1', kind: 'List', items }
    if (output !== undefined && first) await printAs(output, all, io)
  }
}
