# Functions about the Debian that runs this; for `source`.

codename() { # bookworm and such
  (. /etc/os-release && echo "$VERSION_CODENAME")
}

mirror() { # the first address of Debian's archive among apt's sources
  local uri
  uri=$(sed -n -E 's#^URIs: *([^ ]+/debian/?) *$#\1#p; s#^deb (\[[^]]*\] )?([^ ]+/debian/?) .*#\2#p' \
    /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)
  [ -n "$uri" ] || { echo "no Debian mirror among apt's sources" >&2; return 1; }
  echo "$uri"
}
