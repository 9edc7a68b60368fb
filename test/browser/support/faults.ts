/** Stands between a page and the API: answers that fail or wait, and a network that is gone. */
import type { Page } from 'playwright-core'
import type { Guards } from './guards.ts'

export interface Fault {
  status: number
  /** A Status of Kubernetes, as the API answers. A text is sent as it is. */
  body: object | string
}

/** Returns a Status as kube-apiserver words it. */
export const statusOf = (code: number, reason: string, message: string): Fault => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code },
})

/** Matches a resource of the management group, with its query. */
const urlOf = (resource: string): RegExp =>
  new RegExp(`/kubernetes/management/apis/management\\.platform/v1/${resource}(\\?|$)`)

/** Answers requests to a resource, such as `ownedaccesskeys` or `ownedaccesskeys/ci`, with a fault until the returned function is called. */
export async function failRequests(
  page: Page,
  resource: string,
  { status, body }: Fault,
): Promise<() => Promise<void>> {
  const url = urlOf(resource)
  const fulfil = {
    status,
    contentType: 'application/json',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }
  await page.route(url, (route) => route.fulfill(fulfil))
  return () => page.unroute(url)
}

/** Lets requests to a resource wait until the returned function is called. From then on they reach the API. */
export async function holdRequests(page: Page, resource: string): Promise<() => void> {
  const released = Promise.withResolvers<void>()
  await page.route(urlOf(resource), async (route) => {
    await released.promise
    await route.continue()
  })
  return released.resolve
}

/** Lets a request reach the server and loses its answer, once. */
export async function loseAnswer(page: Page, guards: Guards, method: string, path: RegExp): Promise<void> {
  guards.allowMessage(/net::ERR_CONNECTION_RESET/)
  let isLost = false
  await page.route(path, async (route) => {
    if (isLost || route.request().method() !== method) return route.fallback()
    isLost = true
    await route.fetch()
    await route.abort('connectionreset')
  })
}

/** Takes the network away until the returned function is called. */
export async function cutNetwork(page: Page, guards: Guards): Promise<() => Promise<void>> {
  guards.allowMessage(/net::ERR_INTERNET_DISCONNECTED/)
  await page.context().setOffline(true)
  return () => page.context().setOffline(false)
}
