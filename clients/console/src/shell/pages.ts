/** Lists the pages of the console. Each is a script of its own, which the browser loads with the first visit. */
import { type Part, part } from '../components/part.tsx'
import type { Route } from '../text/routes.ts'

export interface PageEntry {
  /** First part of its address. */
  page: string
  /** How many parts follow, such as the name of an object. */
  parts: number
  /** The title of the window. Names of objects are not part of it: they are texts of others. */
  title: string
  /** Whether the header has a link to it. */
  isLink?: true
  /** The page whose link it marks, if it has none. */
  within?: string
  script: Part<{ route: Route }>
}

const keysRoute = part(async () => (await import('../pages/keys/keysroute.tsx')).KeysRoute)
const trustRoute = part(async () => (await import('../pages/trusts/trustroute.tsx')).TrustRoute)
const clusters = part(async () => (await import('../pages/clusters/clusterspage.tsx')).ClustersPage)
const cluster = part(async () => (await import('../pages/clusters/clusterpage.tsx')).ClusterPage)
const newKeyPage = part(async () => (await import('../pages/newkey/newkeypage.tsx')).NewKeyPage)
const keyPage = part(async () => (await import('../pages/key/keypage.tsx')).KeyPage)
const whosePage = part<{ route: Route }>(async () => (await import('../pages/whose/whosepage.tsx')).WhosePage)
const newTrustPage = part(async () => (await import('../pages/trusts/newtrustpage.tsx')).NewTrustPage)
const mayItPage = part(async () => (await import('../pages/mayit/mayitpage.tsx')).MayItPage)

export const pages: readonly PageEntry[] = [
  { page: 'overview', parts: 0, title: 'Overview', isLink: true, script: keysRoute },
  { page: 'keys', parts: 0, title: 'Keys', isLink: true, script: keysRoute },
  { page: 'new-key', parts: 0, title: 'New key', within: 'keys', script: newKeyPage },
  { page: 'keys', parts: 1, title: 'Access key', script: keyPage },
  { page: 'whose', parts: 0, title: 'Whose key is this?', within: 'keys', script: whosePage },
  { page: 'trusts', parts: 0, title: 'Trusts', isLink: true, script: trustRoute },
  { page: 'trusts', parts: 2, title: 'Trusts', script: trustRoute },
  { page: 'new-trust', parts: 0, title: 'New trust', within: 'trusts', script: newTrustPage },
  { page: 'virtual-clusters', parts: 0, title: 'Virtual clusters', isLink: true, script: clusters },
  { page: 'virtual-clusters', parts: 2, title: 'Virtual cluster', script: cluster },
  { page: 'clusters', parts: 0, title: 'Clusters', isLink: true, script: clusters },
  { page: 'clusters', parts: 1, title: 'Cluster', script: cluster },
  { page: 'may-it', parts: 0, title: 'Access check', isLink: true, script: mayItPage },
]

/**
 * Returns the page of a route, or undefined if there is none. No object is called `.` or `..`, which would change the path of a
 * request.
 */
export const pageOf = ({ page, parts }: Route): PageEntry | undefined =>
  parts.some((part) => /^\.\.?$/.test(part))
    ? undefined
    : pages.find((one) => one.page === page && one.parts === parts.length)
