/**
 * Moves the functions of a deployment back to the versions of an earlier release (docs/deploying.md). Can be repeated after an
 * interruption.
 */
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import {
  GetAliasCommand,
  LambdaClient,
  paginateListFunctions,
  paginateListVersionsByFunction,
  UpdateAliasCommand,
} from '@aws-sdk/client-lambda'
import { type Command, runCommand } from './command.ts'
import { target, valuesOf } from './osls.ts'

const ALIAS = 'live'

/** A version number, and the release in the description of the version. */
export interface Version {
  number: string
  release: string
}

/** A function with the alias. */
export interface Published {
  name: string
  /** The version that the alias invokes. */
  live: string
  /** Changes with the alias. */
  revision: string
  /** Whether the alias invokes two versions. */
  shifts: boolean
  /** From the oldest to the newest. */
  versions: readonly Version[]
}

export interface Move {
  name: string
  from: string
  to: string
  revision: string
}

export interface Rollback {
  from: string
  to: string
  moves: readonly Move[]
  /** Functions that the earlier release does not have. */
  kept: readonly string[]
}

/** Returns the releases of a deployment, from the newest to the oldest: those of its authorizer. */
export const releasesOf = (functions: readonly Published[]): string[] => [
  ...new Set(
    authorizerOf(functions)
      .versions.map(({ release }) => release)
      .reverse(),
  ),
]

/**
 * Returns what moves the functions to a release, by default the one before that of the authorizer. The authorizer moves last, so
 * that a rollback that was interrupted has the same goal when it is repeated. Throws during a rollout, for a release of which no
 * function has a version, and for one that cannot read what a later one has written.
 */
export function planRollback(functions: readonly Published[], wanted?: string): Rollback {
  const shifting = functions.find(({ shifts }) => shifts)
  if (shifting)
    throw new Error(
      `a rollout is in progress: ${shifting.name} has two versions. Stop it with aws deploy stop-deployment`,
    )
  const authorizer = authorizerOf(functions)
  const from = releaseOf(authorizer, authorizer.live)
  const earlier = authorizer.versions.slice(
    0,
    authorizer.versions.findIndex(({ number }) => number === authorizer.live),
  )
  const to = wanted ?? earlier.findLast(({ release }) => release !== from)?.release
  if (to === undefined) throw new Error(`there is no release before ${from}`)
  if (!authorizer.versions.some(({ release }) => release === to)) throw new Error(`there is no release ${to}`)
  // Items of a release stay when it no longer runs, so the newest one counts, and not that which runs.
  const since = authorizer.versions.slice(authorizer.versions.findLastIndex(({ release }) => release === to))
  const numbers = [...new Set(since.flatMap(({ release }) => /^\S+/.exec(release) ?? []))]
  if (numbers.length > 2)
    throw new Error(
      `${to} reads only what ${numbers[1]} has written, and ${numbers.at(-1)} has run: deploy each release in turn (docs/deploying.md)`,
    )
  const moves: Move[] = []
  const kept: string[] = []
  for (const one of [...functions.filter((other) => other !== authorizer), authorizer]) {
    const version = one.versions.findLast(({ release }) => release === to)
    if (version === undefined) kept.push(one.name)
    else if (version.number !== one.live)
      moves.push({ name: one.name, from: one.live, to: version.number, revision: one.revision })
  }
  return { from, to, moves, kept }
}

function authorizerOf(functions: readonly Published[]): Published {
  const authorizer = functions.find(({ name }) => name.endsWith('-authorizer'))
  if (authorizer === undefined) throw new Error(`there is no deployment with an alias ${ALIAS}`)
  return authorizer
}

const releaseOf = ({ versions }: Published, live: string) =>
  versions.find(({ number }) => number === live)?.release ?? `version ${live}`

/** Returns the functions of a deployment that have the alias. */
async function publishedFunctions(client: LambdaClient, stage: string): Promise<Published[]> {
  const names: string[] = []
  for await (const { Functions = [] } of paginateListFunctions({ client }, {}))
    names.push(
      ...Functions.map(({ FunctionName = '' }) => FunctionName).filter((name) => name.startsWith(`keyplane-${stage}-`)),
    )
  const found: Published[] = []
  // One after another: Lambda allows 15 such calls a second.
  for (const FunctionName of names.sort()) {
    const alias = await client.send(new GetAliasCommand({ FunctionName, Name: ALIAS })).catch((error: Error) => {
      if (error.name === 'ResourceNotFoundException') return undefined
      throw error
    })
    if (alias === undefined) continue
    const versions: Version[] = []
    for await (const { Versions = [] } of paginateListVersionsByFunction({ client }, { FunctionName }))
      for (const { Version: number = '', Description: release = '' } of Versions)
        if (number !== '$LATEST') versions.push({ number, release })
    found.push({
      name: FunctionName,
      live: alias.FunctionVersion ?? '',
      revision: alias.RevisionId ?? '',
      shifts: Object.keys(alias.RoutingConfig?.AdditionalVersionWeights ?? {}).length > 0,
      versions: versions.sort((one, other) => Number(one.number) - Number(other.number)),
    })
  }
  return found
}

/**
 * Throws while CloudFormation deploys: it would move aliases to the new versions again, or fail at those that have moved. While it
 * cleans up, it moves none.
 */
export function refuseDuring(status: string): void {
  if (/(?<!CLEANUP)_IN_PROGRESS$/.test(status))
    throw new Error(`the stack is ${status}: wait, or stop an update with aws cloudformation cancel-update-stack`)
}

/** Returns the status of the stack of a deployment, or nothing if it has another name. */
async function stackStatus(client: CloudFormationClient, stage: string): Promise<string> {
  const call = new DescribeStacksCommand({ StackName: `keyplane-${stage}` })
  const { Stacks } = await client.send(call).catch((error: Error) => {
    if (error.name === 'ValidationError') return { Stacks: [] }
    throw error
  })
  return Stacks?.[0]?.StackStatus ?? ''
}

const COMMAND = {
  call: 'npm run rollback',
  about: `Moves the functions of a deployment back to the versions of the release before the one that they have, within seconds.
The stack does not know of it: deploy that release, or a corrected one, afterwards, with --param rollout=all-at-once.`,
  options: {
    ...target,
    to: { type: 'string', value: 'RELEASE', help: 'another release, as --list prints it' },
    list: { type: 'boolean', help: 'print the releases that Lambda has, and change nothing' },
  },
} as const satisfies Command

if (import.meta.main) {
  await runCommand(COMMAND, async ({ stage, region, 'aws-profile': profile, to, list }) => {
    valuesOf({ stage })
    const place = { region, ...(profile !== undefined && { profile }) }
    const client = new LambdaClient(place)
    const functions = await publishedFunctions(client, stage)
    if (list) {
      process.stdout.write(
        releasesOf(functions)
          .map((release) => `${release}\n`)
          .join(''),
      )
      return
    }
    const plan = planRollback(functions, to)
    refuseDuring(await stackStatus(new CloudFormationClient(place), stage))
    for (const { name, to: FunctionVersion, revision: RevisionId } of plan.moves)
      await client.send(new UpdateAliasCommand({ FunctionName: name, Name: ALIAS, FunctionVersion, RevisionId }))
    const kept = plan.kept.map((name) => `unchanged   ${name}, which that release does not have\n`).join('')
    process.stdout.write(
      `from        ${plan.from}\nto          ${plan.to}\nfunctions   ${plan.moves.length} moved\n${kept}`,
    )
  })
}
