/** How get, create and authentication take as long among many objects as among few, and lists as long as they are. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda'
import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { get } from '../../lib/registry/read.ts'
import { authorizer } from '../../lib/server/authorizer.ts'
import { startDeployment } from '../support/deployment.ts'
import { admin, contextOf } from '../support/users.ts'
import { createKey, unique } from './access.ts'
import { median, once, spread } from './measure.ts'
import { table } from './print.ts'

const samples = 100

async function medianOf(count: number, work: (index: number) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < count; index++) times.push(await once(() => work(index)))
  return median(times)
}

export async function benchGrowth({ rounds, objects }: { rounds: number; objects: number }): Promise<void> {
  const deployment = await startDeployment('https://bench.invalid')
  try {
    const store = deployment.parts.storeOf(OwnedAccessKey)
    const context = contextOf(admin)
    const names: string[] = []
    const make = async (): Promise<string> => {
      const name = unique()
      const key = await createKey(store, name)
      names.push(name)
      return key
    }
    const handler = authorizer()
    const file = join(import.meta.dirname, '../../events/authorizer.json')
    const event: APIGatewayRequestAuthorizerEvent = JSON.parse(await readFile(file, 'utf8'))
    const key = await make()
    const authenticate = async (): Promise<void> => {
      const { context } = await handler({
        ...event,
        multiValueHeaders: { ...event.multiValueHeaders, Authorization: [`Bearer ${key}`] },
      })
      if (!context?.user) throw new Error('the authorizer knows no user')
    }
    const any = (): string => names[Math.floor(Math.random() * names.length)] ?? ''

    const rows: number[][] = []
    for (const size of [100, 1000, 10_000, 100_000].filter((one) => one <= objects)) {
      await spread(size - names.length, 32, make)
      await medianOf(20, authenticate)
      const authenticating = await medianOf(samples, authenticate)
      const getting = await medianOf(samples, () =>
        get(store, { namespace: '', name: any(), subresource: '' }, context),
      )
      const listing = await medianOf(rounds, () => store.storage.list(OwnedAccessKey.table, {}))
      const creating = await medianOf(samples / 2, make)
      rows.push([size, getting, creating, authenticating, listing, (listing * 1000) / size])
    }
    const header = ['objects', 'get ms', 'create ms', 'authorizer ms', 'list ms', 'list µs per object']
    table('Growth: medians, one caller', header, rows)
  } finally {
    await deployment.stop()
  }
}
