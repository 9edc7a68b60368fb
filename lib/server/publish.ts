/**
 * Publishes functions as versions and moves their alias to them. It does what the resources AWS::Lambda::Version and AWS::Lambda::Alias
 * would do: a stack may have 500 resources, too few for a pair of each function.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Connection, callLambda, LambdaError } from './lambda/lambdaapi.ts'

export interface Publishing {
  alias: string
  /** The description of the versions. */
  description: string
  functions: readonly { name: string; codeSha256: string }[]
}

const pathOf = (name: string, rest: string) => `/2015-03-31/functions/${name}/${rest}`

/**
 * Publishes all functions, then moves their aliases. Throws when Lambda refuses one, such as a function whose code has another hash:
 * then no alias has moved. Can be repeated: Lambda publishes no version that equals the last one. The calls follow each other, because
 * Lambda allows 15 of them a second.
 */
export async function publishVersions(
  { alias, description, functions }: Publishing,
  connection: Connection,
  pauseMs: number,
): Promise<void> {
  const versions = new Map<string, string>()
  for (const { name, codeSha256 } of functions) {
    // A role grants nothing else, but a name decides where a request goes.
    if (!/^[\w-]+$/.test(name)) throw new Error(`${name} is not the name of a function`)
    versions.set(name, await publish(name, { CodeSha256: codeSha256, Description: description }, connection, pauseMs))
  }
  for (const [name, version] of versions) await point(name, alias, version, connection, pauseMs)
}

/** Returns the version when Lambda can run it. */
async function publish(name: string, body: object, connection: Connection, pauseMs: number): Promise<string> {
  for (;;) {
    // A repetition says what the state of the version is.
    const answer = await callLambda('POST', pathOf(name, 'versions'), body, connection, pauseMs)
    const { Version, State, StateReason = 'no version' } = answer
    if (State === 'Failed' || Version === undefined) throw new Error(`${name} cannot run: ${StateReason}`)
    if (State !== 'Pending') return Version
    await delay(pauseMs)
  }
}

/** Moves the alias of a function, which its first version does not have yet. */
async function point(name: string, alias: string, version: string, connection: Connection, pauseMs: number) {
  const call = { FunctionVersion: version }
  try {
    await callLambda('PUT', pathOf(name, `aliases/${alias}`), call, connection, pauseMs)
  } catch (error) {
    if (!(error instanceof LambdaError) || error.name !== 'ResourceNotFoundException') throw error
    await callLambda('POST', pathOf(name, 'aliases'), { ...call, Name: alias }, connection, pauseMs)
  }
}
