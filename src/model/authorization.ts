/** An HTTP request that credentials are for. */
export interface AuthorizedRequest {
  readonly url: string
  /** HTTP method, in upper case. */
  readonly method: string
}

/** A 401 or 403 that a request met. */
export interface Challenge extends AuthorizedRequest {
  readonly status: number
  /** Reads a header of the response by its name in lower case (`www-authenticate`, `dpop-nonce`). */
  readonly header: (name: string) => string | undefined
  /** The revision of the protocol that the request is of, where it is known. */
  readonly revision?: string
  /** Aborted once nobody waits for the request any more: then nobody is to be asked for its sake. */
  readonly signal?: AbortSignal
}

/** Where an HTTP client's credentials come from. */
export interface Authorization {
  /** Tells callers apart whose answers must not be mixed; part of every cache key. The same for the same user. */
  readonly context: string
  /** The headers that authorize one request, names in lower case; none before credentials are known to be needed. */
  headers(request: AuthorizedRequest): Promise<Readonly<Record<string, string>>>
  /**
   * Deals with a refusal of credentials, with the user's help where it takes that. Resolves to whether the same request
   * is worth another try. Rejects with `CallFailed('Unauthorized')` where no credentials can be had.
   */
  challenged(challenge: Challenge): Promise<boolean>
  /** Told of every other answer, for what its headers bring along (`dpop-nonce`). */
  answered?(request: AuthorizedRequest, header: (name: string) => string | undefined): void
}
