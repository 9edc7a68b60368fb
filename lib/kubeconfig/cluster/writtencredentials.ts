/** What a secret says of a virtual cluster, before any of it is checked: PEM and text. */
export interface WrittenCredentials {
  server: string | undefined
  certificateAuthority: string | undefined
  certificate: string | undefined
  key: string | undefined
  token: string | undefined
  /** Where each came from, for findings. */
  place(name: 'server' | 'certificateAuthority' | 'certificate' | 'key' | 'token'): string
}
