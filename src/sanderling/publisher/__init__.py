"""The other side of the wire: runs on a site's own server and says what changed since LAST_VISIT."""
