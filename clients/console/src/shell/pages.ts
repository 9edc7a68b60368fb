/** Lists the pages of the console. Each is a script of its own, which the browser loads with the first visit. */
import type { ComponentType } from 'preact'
import type { Route } from '../text/routes.ts'

export type PageComponent = ComponentType<{ route: Route }>

export interface PageEntry {
  /** First part of its address. */
  page: string
  /** How many parts follow, such as the name of an object. */
  parts: number
  /** The title of the window. Names of objects are not part of it: they are texts of others. */
  title: string
  /** Its link in the header. */
  nav?: string
  /** The page whose link it marks, if it has none. */
  within?: string
  load(): Promise<PageComponent>
}

export const pages: readonly PageEntry[] = [
  {
    page: 'keys',
    parts: 0,
    title: 'Keys',
    nav: 'Keys',
    load: async () => (await import('../pages/keys/keyspage.tsx')).KeysPage,
  },
  {
    page: 'new-key',
    parts: 0,
    title: 'New key',
    within: 'keys',
    load: async () => (await import('../pages/newkey/newkeypage.tsx')).NewKeyPage,
  },
  {
    page: 'keys',
    parts: 1,
    title: 'Access key',
    load: async () => (await import('../pages/key/keypage.tsx')).KeyPage,
  },
  { page: 'trusts', parts: 0, title: 'Trusts', nav: 'Trusts', load: trustRoute },
  { page: 'trusts', parts: 2, title: 'Trusts', load: trustRoute },
  {
    page: 'new-trust',
    parts: 0,
    title: 'New trust',
    within: 'trusts',
    load: async () => (await import('../pages/trusts/newtrustpage.tsx')).NewTrustPage,
  },
  {
    page: 'virtual-clusters',
    parts: 0,
    title: 'Virtual clusters',
    nav: 'Virtual clusters',
    load: async () => (await import('../pages/virtualclusters/virtualclusterspage.tsx')).VirtualClustersPage,
  },
  {
    page: 'may-it',
    parts: 0,
    title: 'Access check',
    nav: 'Access check',
    load: async () => (await import('../pages/mayit/mayitpage.tsx')).MayItPage,
  },
]

async function trustRoute(): Promise<PageComponent> {
  return (await import('../pages/trusts/trustroute.tsx')).TrustRoute
}

/**
 * Returns the page of a route, or undefined if there is none. No object is called `.` or `..`, which would change the path of a
 * request.
 */
export const pageOf = ({ page, parts }: Route): PageEntry | undefined =>
  parts.some((part) => /^\.\.?$/.test(part))
    ? undefined
    : pages.find((one) => one.page === page && one.parts === parts.length)
