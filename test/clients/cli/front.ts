/** Stands between the command line and the server, so that a test acts before a request arrives or before its answer does. */

import type { IncomingMessage } from 'node:http'
import { request as send } from 'node:https'
import { afterAll, beforeAll } from 'vitest'
import { listeningOverTls } from '../../support/listeningovertls.ts'
import type { TestServer } from '../../support/server.ts'
import { later } from '../../support/sharedserver.ts'

export type Moment = 'before' | 'after'

/** Acts before the request reaches the server, and after the server has answered it. Returns whether the connection is cut. */
export type Act = (moment: Moment, request: { method: string; path: string }) => boolean | Promise<boolean>

export interface Front {
  /** The URL of the API at the front. */
  base: string
  certificateAuthority: string
  /** By default every request passes. */
  act: Act
  /** Changes the text of an answer. By default nothing is changed. */
  change(text: string, path: string): string
  stop(): Promise<void>
}

/** Provides a front of the server to all tests of a file. */
export function useFront(server: TestServer): Front {
  let front: Front | undefined
  beforeAll(async () => {
    front = await startFront(server)
  })
  afterAll(() => front?.stop())
  return later(() => front)
}

async function startFront(server: TestServer): Promise<Front> {
  const { origin, pathname } = new URL(server.base)
  const { url, certificateAuthority, stop } = await listeningOverTls(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const cut = async (moment: Moment) => {
      const isCut = await front.act(moment, { method, path: path.slice(pathname.length) })
      if (isCut) request.socket.destroy()
      return isCut
    }
    const body = Buffer.concat(await Array.fromAsync(request))
    if (await cut('before')) return
    const { host: _, ...others } = headers
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      send(new URL(path, origin), { method, headers: others, ca: server.certificateAuthority, agent: false }, resolve)
        .on('error', reject)
        .end(body)
    })
    const received = Buffer.concat(await Array.fromAsync(answer))
    if (await cut('after')) return
    const { 'transfer-encoding': __, 'content-length': ___, ...changed } = answer.headers
    response.writeHead(answer.statusCode ?? 500, changed).end(front.change(received.toString(), path))
  })
  const front: Front = {
    base: url + pathname,
    certificateAuthority,
    act: () => false,
    change: (text) => text,
    stop,
  }
  return front
}
